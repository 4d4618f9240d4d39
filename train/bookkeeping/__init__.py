"""Per-example clipping from one batched backward pass (book-keeping, Bu et al., arXiv 2210.00038)."""

from .engine import book_keeping, is_stack, stack_apply, stack_gradient

__all__ = ["book_keeping", "is_stack", "stack_apply", "stack_gradient"]
