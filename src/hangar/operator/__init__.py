"""The operator: carries out operations inside one cluster."""
