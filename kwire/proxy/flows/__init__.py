"""RPCs as the proxy saw them: decoded, summarised, asked about in the filter language."""
