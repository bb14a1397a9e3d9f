"""How the operator finds its cluster and proves who it is: a kubeconfig, or what every pod is given."""

from pathlib import Path

import msgspec
import yaml
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.exceptions import ConfigError

from hangar.operator.cluster.port import ClusterError

EXEC_API = "client.authentication.k8s.io/"


def load(kubeconfig: Path | None) -> SingleConfig:
    """Return the configuration of one cluster.

    Args:
        kubeconfig: A file whose current context counts, or None for the service account of the pod we run in.

    Raises:
        ClusterError: There is no such configuration, or it cannot be read.
    """
    source = str(kubeconfig) if kubeconfig is not None else f"the service account in {SERVICE_ACCOUNT}"
    try:
        every = KubeConfig.from_service_account() if kubeconfig is None else KubeConfig.from_file(kubeconfig)
        config = every.get()
    except (ConfigError, KeyError, OSError, ValueError, msgspec.ValidationError, yaml.YAMLError) as error:
        hint = "give a kubeconfig, or run in a pod with a service account" if kubeconfig is None else "correct it"
        raise ClusterError(f"no cluster from {source}: {type(error).__name__}: {error}; {hint}") from error
    if config is None:
        raise ClusterError(f"no cluster from {source}: it has no current context; set one")
    return config._replace(user=_user(config.user))


def _user(user: User | None) -> User:
    if user is None:
        return User()
    if user.exec is not None and user.exec.apiVersion == f"{EXEC_API}v1":
        # The library knows only the older names of the same protocol.
        user.exec.apiVersion = f"{EXEC_API}v1beta1"
    return user
