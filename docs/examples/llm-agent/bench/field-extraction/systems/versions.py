from agent import agent

v1 = agent("v1")
v2 = agent("v2")
