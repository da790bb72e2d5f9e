"""The handlers of the controller, one file an API, named as it; `registry` lists them.

A handler is a function of the state, the request and the time: it changes nothing, it returns
records and a response. The numbers in its docstring stand as `# 3.` at the code that does the step.
"""
