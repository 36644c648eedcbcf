"""A training with JAX on the CPU, a step at a time under ``ullage.jax``."""

import sys

import ullage.jax

from common import say, wait

settings = ullage.jax.prepare()

import jax  # noqa: E402  (only after the variables are set)
import jax.numpy as jnp  # noqa: E402

memory = ullage.jax.attach()
try:
    ullage.jax.prepare()
    late = None
except ullage.UllageError as error:
    late = str(error)

key = jax.random.PRNGKey(3)
inputs = jax.random.normal(key, (128, 4))
targets = inputs @ jnp.arange(1.0, 5.0)


def loss_of(weights):
    return jnp.mean((inputs @ weights - targets) ** 2)


@jax.jit
def update(weights):
    loss, gradient = jax.value_and_grad(loss_of)(weights)
    return loss, weights - 0.1 * gradient


weights, losses = jnp.zeros(4), []
for _ in range(50):
    with memory.step():
        loss, weights = update(weights)
        losses.append(float(loss))
say(settings=settings, late=late, losses=[losses[0], losses[-1]], enforced=memory.enforced,
    usage=str(memory.usage()), platform=jax.devices()[0].platform)
wait()
sys.exit(0)
