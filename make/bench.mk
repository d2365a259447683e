bench: build ## measure: prints `bench NAME VALUE UNIT`, then goals
	@e2e/bench/run
