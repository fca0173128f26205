"""The paper beside what was measured: its tables, figures and findings, each with a verdict."""
