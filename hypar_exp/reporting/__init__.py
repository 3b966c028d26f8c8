"""Reporting: tables and pictures; the only room that knows rich and matplotlib."""
