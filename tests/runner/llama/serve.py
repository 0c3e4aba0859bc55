"""Serves a model file on loopback with llama.cpp's own C++ server, as the wheel xllamacpp packs it.

    serve.py MODEL.gguf CONTEXT

CONTEXT is in tokens, of each of two slots. Prints the address, then runs until it is ended or its input is closed.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"tiny"} if isinstance(params.model_alias, set) else "tiny"
params.hostnames = ["127.0.0.1"] if isinstance(params.hostnames, list) else params.hostnames
params.port = 0
params.n_ctx = 2 * int(sys.argv[2])
params.n_parallel = 2
params.cpuparams.n_threads = 1  # two wait for each other in a busy loop, which is slow on a busy machine
params.use_jinja = True
params.warmup = False
params.sampling.seed = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
