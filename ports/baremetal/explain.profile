# Build profile of the library for the sample explain
activation gelu
activation tanh
norm layer
operation embed
operation position
operation linear
operation norm
operation add
operation attention
operation fill
part taps
text map
text split_bert
tokenizer wordpiece
weights f16
weights int8
limit inputs 3
limit linears 22
limit spaces 3
# Sessions have one worker; without this line up to 64.
limit workers 1
# Left out, as no model needs it: error messages with their numbers.
#part errors
