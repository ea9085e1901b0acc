# What the library needs for the sample listen
activation gelu_tanh
activation log
norm layer
operation position
operation linear
operation norm
operation add
operation activate
operation attention
operation pool
operation prepend
operation spectrum
pool first
weights f32
weights f16
weights int8
limit inputs 3
limit linears 76
limit spaces 4
# One worker of a session at a time; without the line up to 64.
limit workers 1
# What no model asks for: texts and numbers of errors, attention weights.
#part errors
#part taps
