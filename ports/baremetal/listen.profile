# Build profile of the library for the sample listen
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
# Sessions have one worker; without this line up to 64.
limit workers 1
# Left out, as no model needs them: error messages with their numbers, attention maps.
#part errors
#part taps
