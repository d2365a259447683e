.PHONY: demo-fresh demo-sources
demo: ## a hub, three members and applications on this machine, one updated in stages; run again, goes on with that fleet
	@e2e/demo/run

demo-fresh: ## the same from nothing: wipes the fleet that is there
	@e2e/demo/run --fresh

demo-sources: ## the demo's second act: what the fleet gets comes from Git and a repository of charts
	@e2e/demo/sources

demo-down: ## end the demo's programs; its state stays
	@e2e/demo/down
