"""Makes docs/operators/doctor.md and docs/reference/proxy-check.md from the texts of the checks.

`python -m tests.support.doctor.page`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from kwire.doctor.examine import KINDS
from kwire.doctor.finding import FindingKind
from kwire.doctor.proxy_config.examine import KINDS as WEAKNESSES
from kwire.doctor.quorum_check import CHECK_KINDS
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "operators" / "doctor.md"
PROXY_PAGE = ROOT / "docs" / "reference" / "proxy-check.md"

HEAD = """\
# kwire doctor: what is wrong with a cluster

`kwire doctor` asks every controller separately, connects to the endpoints that voters advertise,
reads the metadata log as an observer, and reports findings. It changes nothing.

```
kwire doctor --bootstrap-controller c1:9093,c2:9093,c3:9093
```

A finding has an id, a verdict, a sentence, the evidence (`-`) and what to do (`>`). The verdicts
are `ok`, `info` (worth knowing, nothing to repair), `unknown` (kwire could not look), `WARNING`
and `PROBLEM`. The exit code is 1 if there is a problem, or if a subject could not be checked at
all (`nodes/not-checked`); otherwise it is 0. With `--fail-on warning`, for a job that runs
unattended, it is also 1 if there is a warning or an unknown.

- One address is enough: kwire learns the others from the responses. With `--bootstrap-server` the
  brokers name the voters, and kwire connects to these.
- `--only quorum,endpoints/other-node` selects subjects or ids; `--list` prints them all. Nodes
  that did not answer are reported whatever you select. A subject that kwire could not look at is
  `unknown`, never `ok`.
- `--json` prints one object: `clusterIds`, `problems`, `warnings`, `unknowns` and `findings`,
  each with `id`, `verdict`, `sentence`, `evidence`, `advice` and `source`.
- `--fix-plan` prints the advice as commands for a shell, with the ids and the addresses filled
  in. Steps that no command can do (start a node, edit its properties) and steps for one case only
  ("if it is gone for good") are comments: read them, and do what applies. `-o json` has each step
  with `finding`, `sentence`, `when`, `step` and `isCommand`.
- All nodes are asked at once, and kwire waits for slow ones. A node that does not answer costs
  one attempt. With the default `--timeout` of 60 this is 10 seconds if kwire cannot connect, and
  30 if the node accepts the connection and is silent. A smaller `--timeout` makes it cost less.
- If the cluster has an authorizer, the principal needs DESCRIBE, DESCRIBE_CONFIGS and
  CLUSTER_ACTION on the cluster. Requests that a node refuses are reported as `nodes/refused`.
- kwire connects from the machine where the command runs. Run it on a controller to see what that
  controller sees.

To learn which leader a controller follows, kwire sends it a Fetch in epoch 0. Followers and
leaders answer FENCED_LEADER_EPOCH with the leader and the epoch that they know. DescribeQuorum
does not help: a follower answers with zeros. Nor does DescribeCluster: the controller that it
names may have stopped long ago.

## Probes: kwire quorum check

```
kwire quorum check --node 3 --bootstrap-controller localhost:9093
kwire quorum check --without 3 --bootstrap-controller localhost:9093
```

| command | exit code 0 if |
|---|---|
| `kwire quorum check` | a controller leads and a majority of the voters keeps up with it |
| `kwire quorum check --node 3` | controller 3 leads, or follows a leader |
| `kwire quorum check --without 3` | a majority is caught up without controller 3: restart it |

Caught up means less than `controller.quorum.fetch.timeout.ms` behind, by the leader's clock.

## A fix plan

```
$ kwire doctor --fix-plan --only quorum/voter-silent --bootstrap-controller c1:9093
# quorum/voter-silent: voter 3002 has not fetched for 11 s
#   start controller 3002
kwire quorum check --node 3002 --bootstrap-controller c1:9093
#   or:
#   if its disk was lost:
#   format controller 3002 with --no-initial-controllers and start it
#   kwire quorum replace 3002 --bootstrap-controller c1:9093
#   or:
#   if it is gone for good:
#   kwire quorum remove-controller 3002 --bootstrap-controller c1:9093
```

The advice is tested: tests provoke each finding on real Kafka, run what the plan prints, and
check that the finding is gone. `tests/doctor/test_advice.py` names the test of each finding, or
the reason why there is none.

The other commands of `kwire quorum`, and the upgrade from static voters, are in
[quorum.md](quorum.md).

"""

PROXY_HEAD = """\
# kwire proxy --check: what makes a configuration less safe

    kwire proxy --config kwire-proxy.yaml --check

It reads the [file of a service](../operators/service.md), and the files that it names, and says
what an attacker could use. It opens no port, connects to nothing, runs no script and changes
nothing. Run it as the user of the service, because it checks who can read and change these files.

```
secrets/recorded  PROBLEM  secrets are recorded unmasked
                           - clusters[1].record.show_secrets: true
                           > remove `show_secrets`
files/readable    PROBLEM  token holds secrets, and every user of this machine can read it
                           - clusters[1].feed.token: token
                           > run `chmod o-r token`
2 problems
```

A finding has an id, a verdict, a sentence, the key of the file that it is about (`-`), and what to
do (`>`). What is between backticks is a command to run, or what to write beside that key. Clusters
and listeners are counted from 1. The verdicts are `info` (look at it, it may be meant so),
`WARNING` and `PROBLEM`.

- The exit code is 1 if there is a problem, else 0; 2 if the file is no configuration.
- `--json` prints one object: `file`, `problems`, `warnings`, `unknowns` and `findings`, each with
  `id`, `key`, `verdict`, `sentence`, `evidence`, `advice` and `source`.
- Addresses of loopback, and `localhost`, count as this machine. Other names are not resolved: they
  count as reached by other machines.
- A token counts as guessable if it has a word such as `password` in it, is a sequence or a
  repetition, or has few different bytes. What is not found can still be guessed: let
  `openssl rand` make it.
- It does not see what nodes ask of clients, which certificates clients have, firewalls, the
  permissions that access control lists add, or what a script does.
  [docs/explanation/threat-model.md](../explanation/threat-model.md) says what remains.

"""


def page() -> str:
    """Return the text of the page of `kwire doctor`."""
    lines = [HEAD, *_section("Findings of kwire quorum check", CHECK_KINDS)]
    return _with_subjects(lines, KINDS)


def proxy_page() -> str:
    """Return the text of the page of `kwire proxy --check`."""
    return _with_subjects([PROXY_HEAD], WEAKNESSES)


def _with_subjects(lines: list[str], kinds: Iterable[FindingKind]) -> str:
    for subject, of_subject in groupby(kinds, key=lambda kind: kind.id.partition("/")[0]):
        lines += _section(f"Findings: {subject}", of_subject)
    return "".join(lines).rstrip() + "\n"


def _section(title: str, kinds: Iterable[FindingKind]) -> Iterator[str]:
    yield f"## {title}\n\n| id | verdict | meaning | what to do | source |\n|---|---|---|---|---|\n"
    for kind in kinds:
        cells = (f"`{kind.id}`", kind.verdict.value, kind.meaning, kind.advice, kind.source)
        yield f"| {' | '.join(cells)} |\n"
    yield "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    PROXY_PAGE.write_text(proxy_page())
