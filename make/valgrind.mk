VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --max-stackframe=3000000
VALGRIND_TESTS := $(filter $(OBJ)/test/common/base/% $(OBJ)/test/common/loop/%,$(TEST_PROGRAMS))
unit-valgrind: $(VALGRIND_TESTS) ## the unit tests of common/base and common/loop under valgrind (fibers included)
	@RUNNER='$(VALGRIND)' e2e/run-tests $(OBJ)/test $(VALGRIND_TESTS:$(OBJ)/test/%=%)
.PHONY: unit-valgrind
