test-kube: packages ## tests on real Kubernetes, built on first use (KUBE_VERSION=1.33): ends in `N passed, N failed`
	@e2e/install-packages kube
	@e2e/run-kube
