"""What may not be stored as it came: secrets are taken out, what steers or hides is named."""
