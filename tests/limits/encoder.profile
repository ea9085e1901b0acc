# An encoder of the BERT kind in int8 with its tokenizer, as `fovea inspect --needs` prints it, with texts of errors
# and attention weights.
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
weights f16
weights int8
text map
text split_bert
tokenizer wordpiece
part errors
part taps
