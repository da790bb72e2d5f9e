"""The filters that come with the proxy, one file each."""
