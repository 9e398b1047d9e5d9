"""Tables: reading, roles, preparation and splitting."""
