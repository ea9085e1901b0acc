# What the library needs for the sample explain
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
# One worker of a session at a time; without the line up to 64.
limit workers 1
# What no model asks for: texts and numbers of errors, attention weights.
#part errors
