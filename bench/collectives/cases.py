"""All comparisons."""
import convolution_cases
import expert_cases
import layout_cases
import transformer_cases
import whole_cases
from case import CASES
