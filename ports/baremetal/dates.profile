# What the library needs for the sample dates
activation tanh
attention score_additive
operation embed
operation linear
operation attention
operation pool
operation concat
operation recurrent
operation cell
part generation
pool first
cell gru
text map
text strip
tokenizer unigram
weights f16
weights int8
limit inputs 3
limit linears 10
limit spaces 2
# One worker of a session at a time; without the line up to 64.
limit workers 1
# What no model asks for: texts and numbers of errors, attention weights.
#part errors
#part taps
# Texts written other than by the best token each time.
#generate sampling
#generate beams
#generate drafts
