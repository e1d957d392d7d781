"""A graph of FX becomes a graph of Zellige: sizes, arguments, decompositions, and the meaning of each operator."""
