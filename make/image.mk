.PHONY: image
IMAGE_PROGRAMS := hub-agent member-agent refresh-token manifest-generator kubectl-fleet
IMAGE_VERSION = $(shell sed -nE 's/\#define ARGOSY_VERSION "(.*)"/\1/p' common/base/version.h)
image: $(IMAGE_PROGRAMS:%=$(BIN)/%) ## images of the agents and the page as an OCI layout in build/image, without an engine
	@charts/image/rootfs $(BUILD)/rootfs $(IMAGE_PROGRAMS:%=$(BIN)/%)
	@charts/image/layout $(BUILD)/rootfs $(BUILD)/image $(IMAGE_VERSION)
	@du -sh $(BUILD)/image | sed 's/\t.*//; s/^/build\/image: $(IMAGE_PROGRAMS) together /'
