"""What a run is: a configuration becomes objects, a plan, a report and a record."""
