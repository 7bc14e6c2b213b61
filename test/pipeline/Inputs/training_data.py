"""training_data.py DIR: writes 20 batches for mlp.mlir, inputs and labels."""
import os
import sys

import numpy as np

os.makedirs(sys.argv[1])
random = np.random.default_rng(1)
for name in "x", "labels":
    np.save(os.path.join(sys.argv[1], f"{name}.npy"), random.standard_normal((20, 8, 64)).astype("f4"))
