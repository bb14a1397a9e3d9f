"""Mutations: the fix of a case taken out again, to see that the test which names the case notices."""
