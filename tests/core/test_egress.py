"""What the egress policy lets through: the address decides, not the name."""

from collections.abc import Mapping, Sequence

import pytest

from core.egress import EgressPolicy
from core.egress_upstream import Upstream, upstream_from
from core.errors import EgressDeniedError
from core.ports import EgressDecision

PUBLIC = "93.184.216.34"


class Names:
    """A resolver that knows a few names and counts how often it is asked."""

    def __init__(self, **known: Sequence[str]) -> None:
        self.known: Mapping[str, Sequence[str]] = {
            name.replace("_", "."): value for name, value in known.items()
        }
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.known:
            raise OSError(f"no such host {host}")
        return self.known[host]


async def test_a_public_name_is_let_through_to_the_address_that_was_checked() -> None:
    names = Names(example_org=[PUBLIC])
    decision = await EgressPolicy(resolver=names).decide("Example.org.", 443)
    assert decision == EgressDecision(allowed=True, host="example.org", port=443, address=PUBLIC)
    assert names.asked == ["example.org"]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1", "loopback address"),
        ("10.0.0.7", "private address"),
        ("100.64.3.4", "private address"),
        ("169.254.169.254", "cloud metadata address"),
        ("::ffff:192.168.0.1", "private address"),
        ("224.0.0.251", "multicast address"),
        ("fd00:ec2::254", "cloud metadata address"),
    ],
)
async def test_a_name_that_leads_inside_is_refused(address: str, reason: str) -> None:
    decision = await EgressPolicy(resolver=Names(rebind_test=[address])).decide("rebind.test", 80)
    assert (decision.allowed, decision.reason, decision.address) == (False, reason, "")


async def test_one_inside_address_among_public_ones_is_enough_to_refuse() -> None:
    policy = EgressPolicy(resolver=Names(mixed_test=[PUBLIC, "10.0.0.1"]))
    assert not (await policy.decide("mixed.test", 80)).allowed


async def test_addresses_are_judged_without_being_resolved() -> None:
    names = Names()
    policy = EgressPolicy(resolver=names)
    assert (await policy.decide(PUBLIC, 443)).address == PUBLIC
    assert not (await policy.decide("[::1]", 443)).allowed
    assert names.asked == []


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "a b", "a/b", "user@host", "127.1", ""]
)
async def test_what_is_no_plain_host_is_refused(host: str) -> None:
    decision = await EgressPolicy(resolver=Names()).decide(host, 80)
    assert (decision.allowed, decision.reason) == (False, "not a plain host")


@pytest.mark.parametrize("port", [0, -1, 65536])
async def test_a_port_that_does_not_exist_is_refused(port: int) -> None:
    decision = await EgressPolicy(resolver=Names(example_org=[PUBLIC])).decide("example.org", port)
    assert decision.reason == "no such port"


async def test_a_grant_holds_for_its_host_and_port_only() -> None:
    policy = EgressPolicy(resolver=Names(localhost=["127.0.0.1"]))
    policy.allow("localhost", 8000)
    assert (await policy.decide("localhost", 8000)).address == "127.0.0.1"
    assert not (await policy.decide("localhost", 8001)).allowed
    assert not (await policy.decide("127.0.0.1", 8000)).allowed
    assert policy.is_granted("localhost", 8000)
    assert not policy.is_granted("localhost", 8001)


async def test_a_grant_without_a_port_holds_for_every_port_of_that_host() -> None:
    policy = EgressPolicy(resolver=Names())
    policy.allow("127.0.0.1")
    assert (await policy.decide("127.0.0.1", 1)).allowed
    assert (await policy.decide("127.0.0.1", 65535)).allowed
    assert not (await policy.decide("127.0.0.2", 1)).allowed
    assert not (await policy.decide("127.0.0.1", 0)).allowed


async def test_metadata_is_refused_even_where_it_was_granted() -> None:
    policy = EgressPolicy(resolver=Names())
    policy.allow("169.254.169.254", 80)
    assert (await policy.decide("169.254.169.254", 80)).reason == "cloud metadata address"


def test_a_grant_needs_a_plain_host() -> None:
    with pytest.raises(EgressDeniedError):
        EgressPolicy(resolver=Names()).allow("127.1", 80)


async def test_an_unknown_name_is_refused_without_an_upstream_proxy() -> None:
    decision = await EgressPolicy(resolver=Names()).decide("nowhere.example", 443)
    assert (decision.allowed, decision.reason) == (False, "no such host")


async def test_an_upstream_proxy_resolves_foreign_names_but_no_local_ones() -> None:
    policy = EgressPolicy(resolver=Names(), upstream=Upstream(host="proxy.corp", port=3128))
    assert (await policy.decide("nowhere.example", 443)).allowed
    assert not (await policy.decide("intranet", 443)).allowed
    assert not (await policy.decide("db.internal", 443)).allowed


def test_the_upstream_proxy_is_read_from_the_environment() -> None:
    assert upstream_from({}) is None
    assert upstream_from({"https_proxy": "socks5://x:1"}) is None
    found = upstream_from(
        {"HTTPS_PROXY": "http://me:p%40ss@proxy.corp:3128", "NO_PROXY": ".corp, example.org"}
    )
    assert found is not None
    assert (found.host, found.port) == ("proxy.corp", 3128)
    assert found.authorization == "Basic bWU6cEBzcw=="
    assert found.bypass == ("corp", "example.org")
    bare = upstream_from({"http_proxy": "proxy.corp"})
    assert bare is not None
    assert bare.port == 8080


@pytest.mark.parametrize(
    ("host", "address", "through"),
    [
        ("shop.example", PUBLIC, True),
        ("nowhere.example", "", True),
        ("example.org", PUBLIC, False),
        ("www.example.org", PUBLIC, False),
        ("notexample.org", PUBLIC, True),
        ("127.0.0.1", "127.0.0.1", False),
        ("tool.example", "10.0.0.1", False),
    ],
)
def test_what_goes_through_the_upstream_proxy(host: str, address: str, through: bool) -> None:
    upstream = Upstream(host="proxy.corp", port=3128, bypass=("example.org",))
    decision = EgressDecision(allowed=True, host=host, port=443, address=address)
    assert upstream.serves(decision) is through
