/* Goes before the first line of each unit test: its main() gets the name TEST_MAIN, since there are others in
 * the program. */
#pragma once

int TEST_MAIN(void);
#define main TEST_MAIN
