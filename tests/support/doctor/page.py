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

`kwire doctor` asks every controller by itself, dials the endpoints that voters advertise, reads the
metadata log as an observer, and reports findings. It changes nothing.

```
kwire doctor --bootstrap-controller c1:9093,c2:9093,c3:9093
```

A finding has an id, a verdict, a sentence, the answers it rests on (`-`) and what to do (`>`). The
verdicts are `ok`, `info` (worth knowing, nothing to mend), `unknown` (it could not be looked at),
`WARNING` and `PROBLEM`. The exit code is 1 if there is a problem, or if a subject could not be
checked at all (`nodes/not-checked`), else 0. With `--fail-on warning`, for a job that nobody
watches, it is 1 at a warning, too, and at what is unknown.

- One address is enough: the others are learned from answers. With `--bootstrap-server` the brokers
  name the voters, and these are dialled.
- `--only quorum,endpoints/other-node` selects subjects or ids; `--list` prints them all. What
  could not be asked is reported whatever is selected, and a subject without an answer is `unknown`:
  only what was looked at is called well.
- `--json` prints one object: `clusterIds`, `problems`, `warnings`, `unknowns` and `findings`, each
  with `id`, `verdict`, `sentence`, `evidence`, `advice` and `source`.
- `--fix-plan` prints the advice as a list of commands for a shell, with ids and with the addresses
  that doctor was given. Steps that no command can do (start a node, edit its properties), and
  steps for one case only ("if it is gone for good"), are comments: read them, and do what applies.
  `-o json` has each step with `finding`, `sentence`, `when`, `step` and `isCommand`.
- A node that does not answer costs one attempt: with `--timeout` 60, the default, 10 seconds if it
  cannot be connected to, 30 if it accepts and is silent. All are asked at once, and slow ones are
  waited for; a smaller `--timeout` makes a silent one cost less.
- With an authorizer the principal needs DESCRIBE, DESCRIBE_CONFIGS and CLUSTER_ACTION on the
  cluster; what it may not ask is reported as `nodes/refused`.
- Endpoints are dialled from where the command runs. Run it on a controller to see what that one
  sees.

Which leader a controller follows is read from the refusal of a Fetch in epoch 0: followers and
leaders alike answer FENCED_LEADER_EPOCH with the leader and the epoch that they know. A follower's
answer to DescribeQuorum has zeros in their place, and the controller that DescribeCluster names may
be long dead.

## Probes: kwire quorum check

```
kwire quorum check --node 3 --bootstrap-controller localhost:9093
kwire quorum check --without 3 --bootstrap-controller localhost:9093
```

`--node` asks if a controller takes part: exit code 1 if it answers but follows nobody, or does not
answer. `--without` asks if a controller may be restarted: exit code 1 unless a majority of all
voters is caught up without it, where caught up means less than `controller.quorum.fetch.timeout.ms`
behind, by the leader's clock. Without either it asks for a leader that a majority keeps up with.

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

Tests provoke the findings on real Kafka, do what the plan prints to the letter, and find them gone.
`tests/doctor/test_advice.py` has for each finding the test that does it, or why none can.

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
