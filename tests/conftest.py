"""Four host devices, so that sharding is tested everywhere; nothing else is global."""

import jax

jax.config.update("jax_num_cpu_devices", 4)
