"""What must hold in every run, whatever goes wrong: each checker watches the truth, apart from any scenario."""
