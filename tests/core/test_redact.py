import pytest

from core.redact import Redactor, looks_secret, secret_values

KEYS = [
    "sk-proj-AbCdEf0123456789AbCd",
    "sk-ant-api03-AbCdEf0123456789",
    "ghp_AbCdEf0123456789AbCdEf",
    "github_pat_11ABCDEFG0123456789_abcdef",
    "glpat-AbCdEf0123456789",
    "xoxb-123456789012-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA0123456789abcdefghijklmnopqrstu",
    "hf_AbCdEf0123456789AbCd",
    "sk_live_AbCdEf0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
]


@pytest.mark.parametrize("key", KEYS)
def test_texts_of_the_shape_of_a_key_are_masked(key):
    masked = Redactor().redact(f"token: {key}, and more")
    assert key not in masked
    assert masked.startswith("token: ")
    assert masked.endswith(", and more")
    assert looks_secret(key)


def test_private_keys_and_passwords_in_addresses_are_masked():
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----"
    assert Redactor().redact(f"a {pem} b") == "a <redacted private key> b"
    assert "MIIE" not in Redactor().redact("-----BEGIN PRIVATE KEY-----\nMIIEabc")
    assert (
        Redactor().redact("https://me:hunter22@code.test/x") == "https://me:h<redacted>@code.test/x"
    )
    assert "abcdefghijklmnop" not in Redactor().redact("Authorization: Bearer abcdefghijklmnopqrst")


def test_values_that_are_known_are_masked_wherever_they_stand():
    redactor = Redactor(["zq81-private-7733", "Zebra Corn 99 Battery"])
    assert redactor.redact("x=zq81-private-7733;") == "x=<redacted>;"
    assert redactor.redact("say Zebra Corn 99 Battery") == "say <redacted>"
    assert Redactor(["abcd-efgh-1", "abcd-efgh-1234"]).redact("abcd-efgh-1234") == "<redacted>"


def test_masking_never_hides_command_words_paths_or_hosts():
    redactor = Redactor(
        [
            "rm",
            "production",
            "/home/me/project",
            "docs.example.org",
            "https://api.test/v1",
            "password",
        ]
    )
    for text in (
        "rm -rf build",
        "deploy to production",
        "cat /home/me/project/.env",
        "curl https://api.test/v1/models",
        "open docs.example.org",
        "git checkout sk-feature",
        "password reset",
    ):
        assert redactor.redact(text) == text


def test_a_masked_command_still_says_what_it_does():
    masked = Redactor(["sk-proj-AAAA1"]).redact("sk-proj-AAAA1 rm -rf .")
    assert masked == "<redacted> rm -rf ."


def test_secret_variables_are_told_by_their_names():
    environment = {
        "OPENAI_API_KEY": "sk-test-1234",
        "AWS_SECRET_ACCESS_KEY": "abc123XYZ/+",
        "GITHUB_TOKEN": "token-1234",
        "DB_PASSWORD": "hunter22!",
        "SSH_AUTH_SOCK": "/tmp/agent.sock",
        "PWD": "/home/me/work1",
        "XDG_SESSION_ID": "123456789",
        "KEYBOARD_LAYOUT": "dvorak-12",
        "HOME": "/home/me",
        "SHORT_TOKEN": "abc",
    }
    assert secret_values(environment) == {"sk-test-1234", "abc123XYZ/+", "token-1234", "hunter22!"}


def test_redacting_is_quick_on_long_text():
    text = "a line of ordinary output with words and numbers 123\n" * 20_000
    assert Redactor(["zq81-private-7733"]).redact(text) == text
