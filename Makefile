# `make run` and `make test` do everything on a fresh machine with Go and git;
# `make help` lists the rest. The longer work is in scripts/.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test build simulator setup check golden fuzz test-long cover clean

SAMPLE := audio/testdata/sample.wav
VERSION = $(shell git describe --always --dirty --tags 2>/dev/null || echo unknown)

# Where models are kept; tests and the program look at the same place.
export EARSHOT_STATE := $(or $(EARSHOT_STATE),$(HOME)/.local/state/earshot)

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: build ## Transcribe the sample recording
	@scripts/models tiny.en
	@bin/earshot transcribe $(SAMPLE)

test: build ## Run the tests, with real models (up to 10 minutes)
	@scripts/models tiny.en base
	@scripts/setup opus
	@scripts/setup sound
	@scripts/test

# The version comes from git by hand, not by -buildvcs, which fails in a folder
# that belongs to someone else (a container with the source mounted).
build: setup simulator ## Build bin/earshot
	@scripts/go build -trimpath -buildvcs=false -ldflags '-X earshot/app/cli.version=$(VERSION)' -o bin/earshot ./app/earshot

simulator: build/libneuronsim.so ## Build build/libneuronsim.so, which takes the place of an NPU's library

# What it is made from is known in npu/sim. Without a C compiler there is none.
build/libneuronsim.so: setup
	@if command -v $(CC) >/dev/null; then $(MAKE) -s --no-print-directory -C npu/sim OUT=$(CURDIR)/build; fi

setup: ## Install, or name, what this machine lacks
	@scripts/setup

check: test ## Everything a change must pass: test, format, vet, race, a build without C
	@scripts/check

golden: build ## Compare all reference clips with another engine's tokens (long)
	@scripts/models tiny.en base
	EARSHOT_GOLDEN=full scripts/go test -count=1 -v -timeout 60m -run Golden ./whisper/...

fuzz: setup ## Fuzz every parser, FUZZTIME each (default 60s)
	@scripts/fuzz

test-long: golden fuzz ## What takes too long for every change: golden, fuzz, hours of sound, accuracy, AVX-512, arm64
	EARSHOT_LONG=1 scripts/go test -count=1 -v -timeout 120m ./app/cli ./app/earshot ./store ./whisper/onnpu
	@scripts/test-avx512
	@scripts/test-arm64

cover: build ## Show how much of the code the quick tests reach
	scripts/go test -short -coverprofile bin/cover.out ./...
	@go tool cover -func bin/cover.out | tail -n 1
	@go tool cover -html bin/cover.out -o bin/cover.html && echo "see bin/cover.html"

clean: ## Remove what was built (models stay)
	rm -rf bin build
