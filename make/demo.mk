demo: ## a hub, three members and an application on this machine
	@e2e/demo/run

demo-down: ## end the demo
	@e2e/demo/down
