"""What every kind's API resource is made of: strict fields, serializers, one viewset. The door is agent_api's."""
