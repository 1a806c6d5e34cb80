"""Files that Python writes: what fails leaves the older one, and nothing beside it."""
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import refuses

import nystream

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A small model and one of 1,000 landmarks."""
    store = nystream.open(tmp_path_factory.mktemp("models") / "rows.nys")
    store.append(np.random.default_rng(7).normal(size=(2000, 6)))
    return [store.fit(f"m{m}", landmarks=m).model() for m in (20, 1000)]


def test_a_write_that_fails_leaves_the_older_model(models, tmp_path):
    """The limit of the size of a file is no right of root's."""
    file = tmp_path / "kept.nym"
    models[0].save(file)
    before, limits = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * len(before), limits[1]))
    try:
        refuses(nystream.FileError, "kept.nym", models[1].save, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["kept.nym"]
    assert nystream.Model.load(file).dimensions == 6


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a file system")
def test_a_full_disk_leaves_the_older_model(models, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this root cannot mount a file system")
    try:
        models[0].save(disk / "kept.nym")
        before = (disk / "kept.nym").read_bytes()
        refuses(nystream.FileError, "kept.nym", models[1].save, disk / "kept.nym")
        assert os.listdir(disk) == ["kept.nym"]
        assert (disk / "kept.nym").read_bytes() == before
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


CODE = """
import sys
import nystream
models = [nystream.Model.load(file) for file in sys.argv[2:]]
print(flush=True)
while True:
    for model in models:
        model.save(sys.argv[1])
"""


def test_a_kill_leaves_a_whole_model(models, tmp_path):
    for name, model in zip("ab", models):
        model.save(tmp_path / name)
    made = {(tmp_path / name).read_bytes() for name in "ab"}
    for ms in (1, 4, 9, 16):
        files = [tmp_path / name for name in ("kept.nym", "a", "b")]
        with subprocess.Popen([sys.executable, "-c", CODE, *files], stdout=subprocess.PIPE,
                              env={**os.environ,
                                   "PYTHONPATH": str(ROOT / "src" / "python")}) as ran:
            ran.stdout.readline()
            while not (tmp_path / "kept.nym").exists():
                threading.Event().wait(0.001)
            threading.Event().wait(ms / 1000)
            ran.kill()
        assert (tmp_path / "kept.nym").read_bytes() in made


def test_rights_and_links_stay(models, tmp_path):
    file, link = tmp_path / "kept.nym", tmp_path / "link.nym"
    link.symlink_to("kept.nym")
    before = os.umask(0o027)
    try:
        models[0].save(link)
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        file.chmod(0o606)
        models[1].save(link)
    finally:
        os.umask(before)
    assert link.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o606
    assert file.read_bytes() == models[1].to_bytes()


def test_what_is_no_file_is_written_as_it_is(models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    models[0].save(tmp_path / "pipe")
    reader.join()
    assert read == [models[0].to_bytes()]
    refuses(OSError, "", models[0].save, tmp_path)
