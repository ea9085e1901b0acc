# FOVEA_PROFILE=attention: everything that fovea/attention.h offers, and no models. A file with fewer lines, for example
# only "attention window", makes a smaller library.
attention *
activation relu
activation gelu
activation gelu_tanh
activation silu
activation sigmoid
rows *
# relative scores
weights f32
# kept weights
part taps
part errors
