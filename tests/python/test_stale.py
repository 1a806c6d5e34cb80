"""Scratch folders of processes that were killed: the next one removes them, and no other."""
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from nystream import _scratch

ROOT = Path(__file__).resolve().parents[2]
build = Path(os.environ.get("NYSTREAM_BUILD", ROOT / "build"))
PROGRAM = Path(os.environ["NYSTREAM_LIBRARY"]).with_name("nystream")
pytestmark = pytest.mark.quick

CODE = {
    "estimator": """
import numpy as np
import nystream
X = np.random.default_rng(0).normal(size=(100_000, 8))
nystream.Isomap(n_neighbors=30, n_landmarks=1000).fit(X)
""",
    "forked": """
import os, time
from nystream._scratch import Scratch
scratch = Scratch()
(scratch.path / "file").touch()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(600)
time.sleep(600)
"""}


def begin(kind, folder):
    """Start a process and return it when it has a scratch folder with something in it."""
    before = set(os.listdir(folder))
    if kind == "command":
        if not (folder.parent / "x.npy").exists():
            np.save(folder.parent / "x.npy", np.random.default_rng(0).normal(size=(200_000, 9)))
        call = [PROGRAM, "embed", folder.parent / "x.npy", "-o", folder.parent / "e.npy", "-q",
                "--landmarks", "3000", "--tmpdir", folder]
    else:
        call = [sys.executable, "-c", CODE[kind]]
    ran = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           env={**os.environ, "TMPDIR": str(folder),
                                "PYTHONPATH": str(ROOT / "src" / "python")})
    while not any(list((folder / name).iterdir()) for name in set(os.listdir(folder)) - before
                  if (folder / name).is_dir()):
        assert ran.poll() is None
        threading.Event().wait(0.01)
    made, = set(os.listdir(folder)) - before
    return ran, made


def kill(ran, number=signal.SIGKILL):
    ran.send_signal(number)
    ran.wait()
    ran.stdout.close()


def use(kind, folder):
    """Make and remove a scratch folder in this folder, as another process would."""
    if kind == "command":
        np.save(folder.parent / "few.npy", np.eye(9))
        subprocess.run([PROGRAM, "embed", folder.parent / "few.npy", "-o", folder.parent / "e.npy",
                        "--tmpdir", folder, "-q"], check=True)
    else:
        _scratch.Scratch(folder)


@pytest.mark.parametrize("kind, number, by", [("estimator", signal.SIGTERM, "package"),
                                              ("estimator", signal.SIGKILL, "command"),
                                              ("command", signal.SIGKILL, "package"),
                                              ("command", signal.SIGKILL, "command")])
def test_what_a_killed_process_has_left_is_removed(kind, number, by, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    dead, left = begin(kind, folder)
    alive, kept = begin(kind, folder)
    try:
        kill(dead, number)
        assert set(os.listdir(folder)) == {left, kept}
        use(by, folder)
        assert os.listdir(folder) == [kept]
        assert list((folder / kept).iterdir())
    finally:
        kill(alive)


def test_a_forked_process_keeps_the_folder_of_its_parent(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    ran, made = begin("forked", folder)
    child = int(ran.stdout.readline())
    kill(ran)
    use("package", folder)
    use("library", folder)
    assert os.listdir(folder) == [made]
    os.kill(child, signal.SIGKILL)
    while os.listdir(folder):  # init takes a moment to let it go
        use("package", folder)


@pytest.mark.parametrize("by", ["library", "package"])
def test_folders_of_others_stay(by, tmp_path):
    """Folders of other versions, machines and users stay, and so do files and links."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    prefix = f".nystream-{boot}-"
    names = [".nystream-abcdef", ".nystream-0123abcd-abcdef", "nystream-abcdefgh", "other"]
    for name in names:
        (tmp_path / name / "rows.nys").mkdir(parents=True)
    (tmp_path / (prefix + "file")).touch()
    (tmp_path / (prefix + "link")).symlink_to("other")
    names += [prefix + "file", prefix + "link"]
    if os.geteuid() == 0:
        names.append(prefix + "abcdef")
        (tmp_path / names[-1]).mkdir()
        os.chown(tmp_path / names[-1], 65534, 65534)
    use(by, tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    (tmp_path / (prefix + "abcdefg")).mkdir()
    use(by, tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(names)
