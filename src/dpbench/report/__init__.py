"""What readers see: tables now, figures and a page to come. Reads stores and interpretations, never runs anything."""
