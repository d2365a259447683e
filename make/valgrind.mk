VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --max-stackframe=3000000
VALGRIND_GROUPS := common/base/ common/loop/
unit-valgrind: $(VALGRIND_GROUPS:%=$(TEST_PROGRAMS_IN)/%tests) ## the unit tests of common/base and common/loop under valgrind (fibers included)
	@RUNNER='$(VALGRIND)' e2e/run-tests $(call tests_in_programs,$(VALGRIND_GROUPS:%=%%))
.PHONY: unit-valgrind
