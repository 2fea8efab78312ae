"""Models in the formats of other libraries: PyTorch, safetensors, ONNX, VNN-LIB."""
