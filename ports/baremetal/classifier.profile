# Build profile of the library for classifier.fovea
activation gelu
activation tanh
norm layer
operation embed
operation position
operation linear
operation norm
operation add
operation attention
operation pool
pool first
text map
text split_bert
tokenizer wordpiece
weights f16
weights int8
limit inputs 3
limit linears 20
limit spaces 2
# Sessions have one worker; without this line up to 64.
limit workers 1
# Left out, as no model needs them: error messages with their numbers, attention maps.
#part errors
#part taps
