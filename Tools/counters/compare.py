"""Compares counters with their baselines."""

# By how much a counter may rise, in percent, when tools and libraries are those of the baseline. In three runs on a busy machine
# bytes, chunks, calls and allocations did not differ at all and instructions by less than 0.05 %; the rest is room for what a change of
# something else costs.
TOLERANCES = {"bytes": 0, "chunks": 0, "calls": 0, "allocations": 2, "instructions": 1}
# With another compiler, C library or codec.
FOREIGN_TOLERANCES = {"bytes": 1, "chunks": 0, "calls": 0, "allocations": 15, "instructions": 15}


def flatten(counters):
    """{"create": {"calls": {"read": 3}}} as {("create", "calls", "read"): 3}."""
    flat = {}
    for operation, kinds in counters.items():
        for kind, value in kinds.items():
            if isinstance(value, dict):
                flat.update({(operation, kind, name): count for name, count in value.items()})
            else:
                flat[(operation, kind, "")] = value
    return flat


def compare(baseline, measured, is_foreign=False):
    """Rows (key, baseline, value, is worse) for every counter that was measured or should have been."""
    tolerances = FOREIGN_TOLERANCES if is_foreign else TOLERANCES
    old, new = flatten(baseline), flatten(measured)
    kinds = {key[:2] for key in new}
    rows = []
    for key in sorted(old.keys() | new.keys()):
        if key[:2] not in kinds:
            continue  # not measured on this machine, which was said
        # A kind of call that did not occur counts as none.
        before, now = old.get(key, 0), new.get(key, 0)
        rows.append((key, before, now, now > before * (1 + tolerances[key[1]] / 100)))
    return rows


def self_test(counters):
    """Every counter by itself must fail the check when its baseline is lower than what is measured, and none when it is higher."""
    assert not [row for row in compare(counters, counters) if row[3]], "counters are worse than themselves"
    tested = 0
    for is_foreign, tolerances in ((False, TOLERANCES), (True, FOREIGN_TOLERANCES)):
        for key, value in flatten(counters).items():
            for factor, must_fail in ((1 + tolerances[key[1]] / 100, True), (1, False)):
                changed = {operation: {kind: dict(v) if isinstance(v, dict) else v for kind, v in kinds.items()}
                           for operation, kinds in counters.items()}
                place, name = (changed[key[0]][key[1]], key[2]) if key[2] else (changed[key[0]], key[1])
                place[name] = int(value / factor) - 1 if must_fail else value + 1
                worse = [row[0] for row in compare(changed, counters, is_foreign) if row[3]]
                assert worse == ([key] if must_fail else []), f"{key}: baseline {place[name]}, measured {value}: {worse}"
                tested += 1
    # A kind of call that the baseline does not know.
    new = {operation: {**kinds, "calls": {**kinds["calls"], "added_call": 1}} for operation, kinds in counters.items()}
    assert len([row for row in compare(counters, new) if row[3]]) == len(counters), "new kinds of calls are not seen"
    return tested
