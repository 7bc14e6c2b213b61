"""`python -m pcc` is the command line tool."""
from .tool import main

main()
