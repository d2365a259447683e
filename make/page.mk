.PHONY: page-pictures
PICTURES ?=
page-pictures: build ## pictures of the live page into build/page (PICTURES=word for some of them), in light and dark
	@e2e/install-packages page
	@e2e/page/pictures $(PICTURES)
