"""How a message is declared, and the three engines that read and write it."""
