VALGRIND := valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --max-stackframe=3000000
unit-valgrind: tests ## the unit tests of common/base and common/loop under valgrind (fibers included)
	@RUNNER='$(VALGRIND)' e2e/run-tests $(OBJ)/test common/base
	@RUNNER='$(VALGRIND)' e2e/run-tests $(OBJ)/test common/loop
.PHONY: unit-valgrind
